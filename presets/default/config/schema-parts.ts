import { Type } from 'typebox'

/** A map whose keys are all known; absent, it holds their defaults. */
export const section = { additionalProperties: false, default: {} }

/** How many of something, at least one. */
export const count = (value: number, description: string) => Type.Integer({ minimum: 1, default: value, description })
