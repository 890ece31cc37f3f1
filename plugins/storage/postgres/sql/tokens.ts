/** A lexeme may have 2,046 bytes, and a code unit takes up to three. A longer token is found by its beginning. */
const MAX_TOKEN_UNITS = 600
/** All lexemes of a row may have a mebibyte. */
const MAX_UNITS = 250_000

const cut = (token: string): string => token.slice(0, MAX_TOKEN_UNITS).toWellFormed()

/** The tokens that one row can be found by. */
export const indexable = (tokens: readonly string[]): readonly string[] => {
  let units = 0
  return tokens.map(cut).filter((token) => {
    units += token.length + 4
    return token !== '' && units <= MAX_UNITS
  })
}

/** Tokens that must all occur, as a tsquery. Each stands in quotes, so that the text search parser takes it as it is; `abc*` is a beginning. */
export const tsqueryOf = (tokens: readonly string[]): string =>
  tokens.map((token) => (token.endsWith('*') ? `${quoted(cut(token.slice(0, -1)))}:*` : quoted(cut(token)))).join(' & ')

const quoted = (token: string): string => `'${token.replace(/['\\]/g, '$&$&')}'`
