import type { Notice } from 'guard-gateway/core'
import { newId } from 'guard-gateway/lib/ids'
import type { Notification } from 'guard-gateway/lib/notifier'

/** What goes to receivers. `more`: how many notices like it were held back since `since`. */
export const notificationOf = (
  notice: Required<Notice>,
  { at, base, more = 0, since = at }: Readonly<{ at: number; base: string; more?: number; since?: number }>,
): Notification => ({
  ...notice,
  id: newId('ntf_', at),
  at,
  text: more > 1 ? `${more} like it since ${timeOf(since)} UTC, the last: ${notice.text}` : notice.text,
  url: base === '' ? '' : base + notice.path,
  count: Math.max(1, more),
})

const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 16)
