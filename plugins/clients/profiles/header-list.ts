import { labels, type ProfileSettings } from '../profile-settings.ts'

/** Label headers in one variable. */
export const headerList = (setting: ProfileSettings, id: string, between: string, part: string): string =>
  Object.entries(labels(setting, id))
    .map(([name, value]) => `${name}${between}${value}`)
    .join(part)
