import type { Gateway } from 'guard-gateway/core'

/** As much of a process as hearing of its faults needs. */
export type ErrorSource = Pick<NodeJS.Process, 'on' | 'off'>

/**
 * Receives uncaught errors. What a plugin of the user threw, in a timer or a promise of its own, is reported as its fault and the process continues;
 * any other error leaves the gateway in an unknown state: `own` receives it. Returns a function that removes the handlers.
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
