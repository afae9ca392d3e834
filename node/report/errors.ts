import { CodedError } from '../../common/errors/index.js'
export type NodeErrorCode =
  /** The base model's file is missing or not the one the run asks for. */
  | 'wrong_base'
  /** The run uses worlds, a dialect, a reward or a template that this version of the node does not have. */
  | 'incompatible'
  /** The coordinator speaks another version of the protocol. */
  | 'other_version'
  /** The engine scores the canary differently from what the coordinator published. */
  | 'canary_failed'
  /** A lease whose task or policy is not what it says. */
  | 'bad_lease'
  /** A world of this version breaks on a call: the group is void, and its lease comes back until the next version. */
  | 'broken_environment'
  /** The disk has no room for the base model. */
  | 'no_room'
  /** The user does not want to take part in the run. */
  | 'declined'
  /** The addresses to listen on cannot be used. */
  | 'bad_listen'
  /** Another process works with the data directory. */
  | 'in_use'
  /** There is no base model on this machine yet. */
  | 'no_model'
  /** This system has no services that the program could install, or they cannot be told this. */
  | 'no_service'
  /** There is no group, or no longer its adapter, to verify. */
  | 'nothing_kept'
  /** A limit that does not exist, or has a value that it may not have. */
  | 'bad_limits'
  /** Thresholds that are not for this base model, quantisation or backend. */
  | 'wrong_calibration'
  /** None of those asked serves that version of the run. */
  | 'no_such_version'
  /** A web server does not give what a run has published. */
  | 'bad_source'
  /** The Hugging Face hub does not take what is uploaded, or it is not said who uploads it. */
  | 'bad_hub'
  /** The user has ended the program. */
  | 'stopped'
  /** A folder with an adapter that was not pulled, or whose manifest is not what the run has signed. */
  | 'bad_folder'
  /** The data directory cannot be read or written. */
  | 'unreadable'
  /** A write to the data directory failed, so nothing more is written: the disk may be full. */
  | 'unwritable'

export class NodeError extends CodedError<NodeErrorCode> {}

/** Returns the reason of an abort when a user or the system interrupts the program. */
export const interrupted = (): NodeError => new NodeError('stopped', 'interrupted')
