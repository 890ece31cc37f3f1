import { anyGlob } from 'guard-gateway/lib/glob'

/** Fields of an upstream that decide whether clients send their own login. */
export interface LoginUpstream {
  readonly styles: readonly string[]
  /** Globs. */
  readonly models: readonly string[]
  readonly auth: string
}

/** Whether a client of API style `style` sends its own login: the upstream of its model passes it on. If the model is unknown, one such upstream is enough; other upstreams use their configured key. */
export const sendsOwnLogin = (
  upstreams: readonly LoginUpstream[],
  style: string,
  model: string | undefined,
): boolean => {
  const speaking = upstreams.filter(({ styles }) => styles.includes(style))
  if (model === undefined) return speaking.some(isPassthrough)
  const serving = speaking.find(({ models }) => anyGlob(models)(model))
  return serving !== undefined && isPassthrough(serving)
}

const isPassthrough = ({ auth }: LoginUpstream): boolean => auth === 'passthrough'
