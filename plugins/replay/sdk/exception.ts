import { boundedText } from './snapshot.ts'

/** The recorded fields of a thrown value. */
export interface Thrown {
  /** Class of an error, else the type of the value. */
  readonly type: string
  readonly message: string
  readonly stack: string | undefined
  /** `code` if it is a string, else the type. Failures are grouped by it. */
  readonly code: string
}

/** Describes any thrown value. Never throws, even if accessors of the value do. */
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
