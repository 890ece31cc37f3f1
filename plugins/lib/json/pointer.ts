/** A key as one part of a JSON pointer, without the slash before it. */
export const pointerPart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

/** The key that one part of a JSON pointer stands for. */
export const keyOfPart = (part: string): string =>
  part.includes('~') ? part.replaceAll('~1', '/').replaceAll('~0', '~') : part

/** The keys of a JSON pointer, unescaped, from the outside inwards. */
export const pointerKeys = (pointer: string): string[] =>
  pointer === '' ? [] : pointer.slice(1).split('/').map(keyOfPart)
