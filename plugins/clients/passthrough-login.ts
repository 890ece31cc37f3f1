import { anyGlob } from '#lib/glob'

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

/** Whether an upstream has an API style, for the model if that is known. */
export const isServed = (upstreams: readonly LoginUpstream[], style: string, model: string | undefined): boolean =>
  upstreams.some(({ styles, models }) => styles.includes(style) && (model === undefined || anyGlob(models)(model)))

/** The first style that is served; the first of all if none is. */
export const servedStyle = (
  upstreams: readonly LoginUpstream[],
  styles: readonly string[],
  model: string | undefined,
): string => styles.find((style) => isServed(upstreams, style, model)) ?? styles[0] ?? ''

const isPassthrough = ({ auth }: LoginUpstream): boolean => auth === 'passthrough'
