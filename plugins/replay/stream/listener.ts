import type { Sent } from './sent-messages.ts'
import type { StreamKind } from './stream.ts'

/** Who listens to a stream. */
export interface Listener {
  readonly kind: StreamKind
  /** The projects that they see; null: all. */
  readonly projects: readonly string[] | null
}

/** Of messages what a listener may see, as text. */
export const textFor = ({ projects }: Listener, messages: readonly Sent[]): string =>
  messages
    .filter(({ project_id }) => projects === null || project_id === undefined || projects.includes(project_id ?? ''))
    .map(({ text }) => text)
    .join('')
