import { type BodyOwnership, type Gateway, stages } from 'guard-gateway/core'

/** Has bodies that were read here freed as soon as nobody needs them: after all who record a call, since they may read its body. */
export const freeBodies = ({ hooks }: Gateway, bodies: BodyOwnership): void =>
  hooks.settle.tap({ name: 'http', stage: stages.settle.free }, ({ call }) => bodies.settled(call.body))
