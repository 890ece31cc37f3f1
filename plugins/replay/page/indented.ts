/** Indented JSON with exact integers. */
export const indented = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? JSON.rawJSON(String(part)) : part), 2)
