import { Type } from '#lib/json'

/** A closed object; if absent, it has its defaults. */
export const section = { additionalProperties: false, default: {} }

/** A positive integer. */
export const count = (value: number, description: string) => Type.Integer({ minimum: 1, default: value, description })
