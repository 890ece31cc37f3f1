export { cleanNotice } from './notifier/clean-notice.ts'
export {
  type Notification,
  type Notifier,
  type NotifyResult,
  type NotifyTarget,
  notifier,
  notifierKind,
} from './notifier/contract.ts'
export { errorText } from './notifier/error-text.ts'
export {
  type HttpReceiver,
  type HttpTarget,
  httpReceiverSchema,
  httpTarget,
  type JsonRequest,
} from './notifier/http-target.ts'
