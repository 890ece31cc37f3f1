import type { Gateway } from 'guard-gateway/core'

/** Behind all others: whoever records a call may read its body. */
const LAST = 10_000

/** Has bodies that were read here freed as soon as nobody needs them. */
export const freeBodies = ({ hooks, ownedBodies }: Gateway): void =>
  hooks.settle.tap({ name: 'http', stage: LAST }, ({ call }) => ownedBodies.settled(call.body))
