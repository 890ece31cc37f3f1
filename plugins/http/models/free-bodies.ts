import { type BodyOwnership, type Gateway, stages } from 'guard-gateway/core'

/** Frees request bodies early: after all recorders of a call, since they may read its body. */
export const freeBodies = ({ hooks }: Gateway, bodies: BodyOwnership): void =>
  hooks.settle.tap({ name: 'http', stage: stages.settle.free }, ({ call }) => bodies.settled(call.body))
