import { GuardError } from 'guard-gateway/core'
import { labels, type ProfileSettings } from '../profile-settings.ts'

/** Label headers in one variable, parted by commas. Throws USAGE for a session that would end there. */
export const headerList = (
  setting: ProfileSettings,
  {
    id,
    title,
    between,
    part,
  }: { readonly id: string; readonly title: string; readonly between: string; readonly part: string },
): string => {
  if (setting.session?.includes(',') === true)
    throw new GuardError(
      'USAGE',
      `${title} takes a comma for the beginning of another header. Name the session without one.`,
    )
  return Object.entries(labels(setting, id))
    .map(([name, value]) => `${name}${between}${value}`)
    .join(part)
}
