import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const isProgram = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Where Chromium is: CHROMIUM_PATH, else the first of its usual names in PATH. */
const chromiumPath = (): string | undefined => {
  const { CHROMIUM_PATH, PATH = '' } = process.env
  const files = PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)))
  return [...(CHROMIUM_PATH === undefined ? [] : [CHROMIUM_PATH]), ...files].find(isProgram)
}

const found = chromiumPath()
const required = process.env.GUARD_BROWSER_TESTS === 'required'

/** Why tests in a browser cannot run here; false if they can. Where they are required, they fail instead of being left out. */
export const noBrowser: string | false =
  found === undefined && !required && 'no Chromium here: install one, or name it in CHROMIUM_PATH'

/** A browser that asks nobody anything of its own accord. */
export const openBrowser = async (): Promise<Browser> => {
  if (found === undefined) throw new Error('There is no Chromium, and GUARD_BROWSER_TESTS=required.')
  return chromium.launch({
    executablePath: found,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--in-process-gpu',
      '--renderer-process-limit=1',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
