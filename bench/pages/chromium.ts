import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Browser } from 'playwright-core'

/** Chromium's headless shell takes two thirds of the time. */
const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const isProgram = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Path of Chromium: CHROMIUM_PATH, else the first usual name in PATH. */
export const chromiumPath = ({ CHROMIUM_PATH, PATH = '' } = process.env): string | undefined => {
  const files = PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)))
  return [...(CHROMIUM_PATH === undefined ? [] : [CHROMIUM_PATH]), ...files].find(isProgram)
}

/** A browser. Undefined without Chromium or without its driver. */
export const openChromium = async (): Promise<Browser | undefined> => {
  const executablePath = chromiumPath()
  const driver = await import('playwright-core').catch(() => undefined)
  if (executablePath === undefined || driver === undefined) return undefined
  return driver.chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
}
