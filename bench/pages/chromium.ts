import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Browser } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const isProgram = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** A browser: CHROMIUM_PATH, else the first Chromium in PATH; undefined where there is none, or nothing to drive it with. */
export const openChromium = async ({ CHROMIUM_PATH, PATH = '' } = process.env): Promise<Browser | undefined> => {
  const files = PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)))
  const executablePath = [...(CHROMIUM_PATH === undefined ? [] : [CHROMIUM_PATH]), ...files].find(isProgram)
  const driver = await import('playwright-core').catch(() => undefined)
  if (executablePath === undefined || driver === undefined) return undefined
  return driver.chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
}
