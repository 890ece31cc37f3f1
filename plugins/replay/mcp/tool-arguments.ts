import { GuardError } from 'guard-gateway/core'
import type { JsonObject } from '#lib/json'

const TEXT_CHARS = 1_000

/** Arguments of a call. Each member is read by what it must be; throws INVALID_REQUEST with the name and what fits. */
export class ToolArguments {
  readonly #args: JsonObject
  readonly #known: readonly string[]

  /** `known`: the arguments that the tool has. Throws INVALID_REQUEST for others. */
  constructor(args: JsonObject, known: readonly string[]) {
    this.#args = args
    this.#known = known
    const odd = Object.keys(args).find((name) => !known.includes(name))
    if (odd !== undefined)
      throw new GuardError('INVALID_REQUEST', `There is no argument "${odd}"; there is ${known.join(', ')}.`, {
        known: this.#known,
      })
  }

  text(name: string): string | undefined {
    const value = this.#args[name]
    if (value === undefined || value === null || value === '') return undefined
    if (typeof value !== 'string' || value.length > TEXT_CHARS) throw this.#wrong(name, 'a short text')
    return value
  }

  needText(name: string, where: string): string {
    const value = this.text(name)
    if (value === undefined) throw this.#wrong(name, `given: ${where}`)
    return value
  }

  count(name: string, otherwise: number, most: number): number {
    const value = this.#args[name]
    if (value === undefined || value === null) return otherwise
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
      throw this.#wrong(name, 'a whole number from 0')
    return Math.min(value, most)
  }

  flag(name: string): boolean {
    const value = this.#args[name] ?? false
    if (typeof value !== 'boolean') throw this.#wrong(name, 'true or false')
    return value
  }

  oneOf<const N extends string>(name: string, names: readonly N[], otherwise: N): N {
    const value = this.text(name) ?? otherwise
    const found = names.find((one) => one === value)
    if (found === undefined) throw this.#wrong(name, `one of ${names.join(', ')}`)
    return found
  }

  #wrong(name: string, expected: string): GuardError {
    return new GuardError('INVALID_REQUEST', `"${name}" must be ${expected}.`, { path: `/${name}` })
  }
}
