import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonObjectOf } from '#lib/json'
import type { Launch } from '../profile.ts'
import type { ProfileSettings } from '../profile-settings.ts'

const HOME = '.gemini'
const SETTINGS = 'settings.json'

/**
 * A home for one run: the user's settings with another login, since no variable chooses that one, and links to all the rest, so that a
 * conversation is kept where the user has others.
 */
export const homeBeside = ({ home }: Pick<ProfileSettings, 'home'>): Required<Pick<Launch, 'files' | 'links'>> => {
  const own = join(home, HOME)
  const settings = home === '' ? {} : settingsIn(join(own, SETTINGS))
  const security = jsonObjectOf(settings.security)
  const auth = { ...jsonObjectOf(security.auth), selectedType: 'gemini-api-key' }
  const text = JSON.stringify({ ...settings, security: { ...security, auth } })
  return {
    files: [{ path: join(HOME, SETTINGS), text }],
    links: entriesOf(home === '' ? '' : own).map((name) => ({ path: join(HOME, name), target: join(own, name) })),
  }
}

const entriesOf = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).filter((name) => name !== SETTINGS)
  } catch {
    return []
  }
}

/** The client allows comments. What it could not read either counts as empty. */
const settingsIn = (file: string): ReturnType<typeof jsonObjectOf> => {
  try {
    return jsonObjectOf(JSON.parse(readFileSync(file, 'utf8').replace(COMMENT, '$1')))
  } catch {
    return {}
  }
}

const COMMENT = /("(?:\\.|[^"\\])*")|\/\/.*|\/\*[\s\S]*?\*\//g
