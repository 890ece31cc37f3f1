import { type Gateway, stages } from 'guard-gateway/core'
import type { BodyOwnership } from '#lib/request-reader'

/** Frees request bodies early: after all recorders of a call, since they may read its body. */
export const freeBodies = ({ hooks }: Gateway, bodies: BodyOwnership): void =>
  hooks.settle.tap({ name: 'http', stage: stages.settle.free }, ({ call }) => bodies.settled(call.body))
