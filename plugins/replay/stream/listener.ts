import type { Gateway } from 'guard-gateway/core'
import { currentPrincipal, visibleProjects } from 'guard-gateway/lib/principal'
import type { Sent } from './sent-messages.ts'
import type { StreamKind } from './stream.ts'

/** Who listens to a stream. */
export interface Listener {
  readonly kind: StreamKind
  /** The projects that they see; null: all. */
  readonly projects: readonly string[] | null
  /** Their key still holds. */
  readonly mayListen: () => boolean
}

/** Whoever asks now. */
export const listenerNow = (gateway: Gateway, kind: StreamKind): Listener => {
  const principal = currentPrincipal()
  const principals = gateway.service('principals').get()
  const mayListen = (): boolean => principal === undefined || principals?.holds(principal) !== false
  return { kind, projects: visibleProjects(), mayListen }
}

/** Of messages what a listener may see, as text. */
export const textFor = ({ projects }: Listener, messages: readonly Sent[]): string =>
  messages
    .filter(({ project_id }) => projects === null || project_id === undefined || projects.includes(project_id ?? ''))
    .map(({ text }) => text)
    .join('')
