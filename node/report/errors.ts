import { CodedError } from '../../common/errors/index.js'

export type NodeErrorCode =
  /** The file of the base model is missing, or is not the run's. */
  | 'wrong_base'
  /** The run uses environments, a tool-call format, a reward or a template that this version of the node lacks. */
  | 'incompatible'
  /** The coordinator speaks another version of the protocol. */
  | 'other_version'
  /** The engine's scores of the canary differ from the published ones. */
  | 'canary_failed'
  /** The task or the policy of a lease is invalid. */
  | 'bad_lease'
  /** An environment fails on a call. The group is void, and the node would get its lease again until the next version. */
  | 'broken_environment'
  /** The disk has too little space for the base model. */
  | 'no_space'
  /** The user does not want to join the run. */
  | 'declined'
  /** The node cannot listen on the given addresses. */
  | 'bad_listen'
  /** Another process uses the data directory. */
  | 'in_use'
  /** This machine has no base model yet. */
  | 'no_model'
  /** This machine has no GPU for which the engine has a build, or the build cannot be installed. */
  | 'no_gpu'
  /** The program cannot install a service on this system, or not this service. */
  | 'no_service'
  /** No group is on record, or the data directory no longer contains its adapter. */
  | 'nothing_kept'
  /** A limit does not exist, or has an invalid value. */
  | 'bad_limits'
  /** The thresholds are for another base model, quantisation or backend. */
  | 'wrong_calibration'
  /** No source serves that version of the run. */
  | 'no_such_version'
  /** Python lacks the packages of the trainer. */
  | 'no_trainer'
  /** A web server does not serve the files of a run. */
  | 'bad_source'
  /** The Hugging Face hub rejects the upload, or the token is missing. */
  | 'bad_hub'
  /** The owner ended the node, or changed what it may do. */
  | 'stopped'
  /** A folder was not pulled, or the signature of its manifest is invalid. */
  | 'bad_folder'
  /** The key is missing, although the data directory contains records of a node. */
  | 'key_missing'
  /** The node cannot read the data directory. */
  | 'unreadable'
  /** A write to the data directory failed, and the node writes no more: the disk may be full. */
  | 'unwritable'

/** An error of the node. */
export class NodeError extends CodedError<NodeErrorCode> {}
