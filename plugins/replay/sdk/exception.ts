import { boundedText } from './snapshot.ts'

/** What is recorded of something thrown. */
export interface Thrown {
  /** Class of an error, else the type of the value. */
  readonly type: string
  readonly message: string
  readonly stack: string | undefined
  /** `code` where it is a text, else the type: what failures are counted by. */
  readonly code: string
}

/** Describes whatever was thrown. Never throws, whatever its accessors do. */
export const describeThrown = (thrown: unknown): Thrown => {
  if (typeof thrown !== 'object' || thrown === null) {
    const type = thrown === null ? 'null' : typeof thrown
    return { type, message: boundedText(String(thrown)), stack: undefined, code: type }
  }
  const type = textOf(thrown, 'name') ?? className(thrown)
  const stack = textOf(thrown, 'stack')
  return {
    type,
    message: boundedText(textOf(thrown, 'message') ?? ''),
    stack: stack === undefined ? undefined : boundedText(stack),
    code: textOf(thrown, 'code') ?? type,
  }
}

const textOf = (object: object, name: string): string | undefined => {
  try {
    const value: unknown = Reflect.get(object, name)
    return typeof value === 'string' && value !== '' ? value : undefined
  } catch {
    return undefined
  }
}

const className = (object: object): string => {
  try {
    return object.constructor.name
  } catch {
    return 'Object'
  }
}
