/** What a guard does when its process is about to end. */
export interface Leaving {
  /** There is something to end or to send. */
  readonly hasWork: () => boolean
  /** Ends what is open and sends what waits, gives up the rest if this is `forGood`; resolves in good time whatever happens. */
  readonly leave: (by: string, forGood: boolean) => Promise<void>
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
/** Marks listeners of this library, also of another copy of it, so that none takes them for the application's. */
const OURS = Symbol.for('guard-gateway.sdk.exit')

const guards = new Set<Leaving>()

/** Has `guard` told before the process ends, all guards by one set of listeners; returns how to stop that. */
export const beforeLeaving = (guard: Leaving): (() => void) => {
  if (guards.size === 0) listen()
  guards.add(guard)
  return () => {
    if (guards.delete(guard) && guards.size === 0) unlisten()
  }
}

const leaveAll = async (by: string, forGood: boolean): Promise<void> => {
  await Promise.all([...guards].map((guard) => guard.leave(by, forGood)))
}

const onBeforeExit = (): void => {
  // with work the event is emitted again when that is done
  if ([...guards].some((guard) => guard.hasWork())) void leaveAll('beforeExit', true)
}

const onSignal = (signal: NodeJS.Signals): void => {
  const applicationListens = process.listeners(signal).some((listener) => !(OURS in listener))
  // taken away at once, so that a second signal ends the process without delay
  if (!applicationListens) process.off(signal, onSignal)
  void leaveAll(signal, !applicationListens).then(() => {
    if (!applicationListens) process.kill(process.pid, signal)
  })
}
Object.defineProperty(onSignal, OURS, { value: true })

const listen = (): void => {
  process.on('beforeExit', onBeforeExit)
  for (const signal of SIGNALS) process.on(signal, onSignal)
}

const unlisten = (): void => {
  process.off('beforeExit', onBeforeExit)
  for (const signal of SIGNALS) process.off(signal, onSignal)
}
