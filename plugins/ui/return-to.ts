/** Where a form leads when it is done: a path of this server as a header can carry it, or nothing. */
export const returnTo = (given: string | null): string | undefined => {
  if (given === null || !/^\/(?![/\\])/.test(given) || /[^!-~]|\\/.test(given)) return undefined
  return given
}

/** A pattern with its parameters filled in. */
export const filled = (pattern: string, params: Readonly<Record<string, string>>): string =>
  pattern.replaceAll(/:(\w+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''))
