import type { Gateway } from 'guard-gateway/core'

/** As much of a process as hearing of its faults needs. */
export type ErrorSource = Pick<NodeJS.Process, 'on' | 'off'>

/**
 * Receives what nobody caught. What a plugin of the user's threw, in a timer or a promise of its own, is reported as its fault and the process continues;
 * anything else is the gateway's own, whose state is unknown then: `own` is told. Gives the way to stop hearing.
 */
export const onUncaught = (
  { culpritOf, fault }: Pick<Gateway, 'culpritOf' | 'fault'>,
  own: (error: unknown) => void,
  process: ErrorSource = globalThis.process,
): (() => void) => {
  const heard = (error: unknown): void => {
    const culprit = culpritOf(error)
    if (culprit === undefined) own(error)
    else fault(error, culprit)
  }
  process.on('uncaughtException', heard).on('unhandledRejection', heard)
  return () => void process.off('uncaughtException', heard).off('unhandledRejection', heard)
}
