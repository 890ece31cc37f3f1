import { anyGlob } from 'guard-gateway/lib/glob'

/** What of an upstream tells whether clients bring their own login there. */
export interface LoginUpstream {
  readonly styles: readonly string[]
  /** Globs. */
  readonly models: readonly string[]
  readonly auth: string
}

/**
 * Whether a client that speaks `style` is to show a login of its own: the upstream that its model goes to passes it on.
 * Where the model is not known, one such upstream is enough: to others the gateway shows their key, and no login.
 */
export const bringsLogin = (upstreams: readonly LoginUpstream[], style: string, model: string | undefined): boolean => {
  const speaking = upstreams.filter(({ styles }) => styles.includes(style))
  if (model === undefined) return speaking.some(isPassthrough)
  const serving = speaking.find(({ models }) => anyGlob(models)(model))
  return serving !== undefined && isPassthrough(serving)
}

const isPassthrough = ({ auth }: LoginUpstream): boolean => auth === 'passthrough'
