export const MARK = '__guard_location__'

/** What becomes the location of a file in the package, once the code is in a chunk. Kind: `url`, `filename` or `dirname`. */
export const mark = (kind: string, file: string): string => `${MARK}("${kind}", "${file}")`
