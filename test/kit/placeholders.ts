import type { ApiStyle } from 'guard-gateway/core'

/** A style like this one, of which nothing is known yet, once with stand-ins and once without. */
export const bothOf = (style: ApiStyle): readonly [ApiStyle, ApiStyle] => {
  const { bytewise: _, ...literal } = style
  return [{ ...literal, bytewise: true }, literal]
}
