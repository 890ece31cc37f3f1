import { spawn } from 'node:child_process'
import type { Input, Io } from '#lib/command'

/** Opens a page of the gateway, and prints its address for use without a browser. */
export const openInBrowser = (address: string, path: string, { options }: Pick<Input, 'options'>, io: Io): number => {
  const url = address + path
  io.out.write(options.json === true ? `${JSON.stringify({ url })}\n` : `${url}\n`)
  showInBrowser(url, io)
  return 0
}

/** Opens a web address in the browser, where there is one. No shell reads it. */
export const showInBrowser = (url: string, io: Pick<Io, 'env'>): void => {
  if (!/^https?:\/\/[!-~]+$/.test(url)) return
  const [command, ...args] = openers[process.platform] ?? ['xdg-open']
  // without a display there is no browser to open
  const hasDisplay = process.platform !== 'linux' || (io.env.DISPLAY ?? io.env.WAYLAND_DISPLAY) !== undefined
  if (command !== undefined && hasDisplay && !io.env.CI) {
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
    child.on('error', () => {})
    child.unref()
  }
}

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  // "start" of cmd would take a "&" in the address for the end of a command
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
