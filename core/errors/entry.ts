import { type Code, catalogue, type Entry } from './catalogue.ts'

/** Whether the catalogue has this code. Plugins in JavaScript may throw any. */
export const isKnownCode = (code: unknown): code is Code => typeof code === 'string' && Object.hasOwn(catalogue, code)

/** Status, type and texts of a code. One that the catalogue does not have is a fault of the plugin that threw it: 500, under its own name. */
export const errorEntry = (code: string): Entry => {
  if (isKnownCode(code)) return catalogue[code]
  const [status, type] = catalogue.INTERNAL
  return [
    status,
    type,
    `The gateway has no error code ${code}`,
    'Whoever wrote the plugin that threw it: use a code that "guard explain" knows.',
  ]
}
