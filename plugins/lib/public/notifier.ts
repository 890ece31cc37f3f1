export {
  type HttpReceiver,
  httpReceiverSchema,
  httpTarget,
  type Notification,
  type NotifyResult,
  notifier,
  notifierKind,
} from '../notifier.ts'
