/** An attribute name as lower-case words: `ai.usage.cachedInputTokens` is ai, usage, cached, input, tokens; `1h` stays one word. */
export const nameWords = (name: string): readonly string[] =>
  name
    .replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1 ')
    .replace(/(\p{L})(?=\p{N})/gu, '$1 ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
