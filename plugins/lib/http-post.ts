export { post, type ReceiverResponse } from './http-post/post.ts'
export { retryAfterMs } from './http-post/retry-after.ts'
