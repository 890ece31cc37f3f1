export { errorText } from './notifier/error-text.ts'
export {
  type HttpReceiver,
  type HttpTarget,
  httpReceiverSchema,
  httpTarget,
  type JsonRequest,
} from './notifier/http-target.ts'
