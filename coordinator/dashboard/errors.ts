import { CodedError } from '../../common/errors/index.js'

/** The dashboard cannot be served as `run.yaml` says. */
export class DashboardError extends CodedError<'bad_token' | 'not_listening'> {}
