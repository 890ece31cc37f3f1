import { realpathSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { GuardError } from 'guard-gateway/core'

/** Folders that package runners and version managers make for one command or one shell, and remove. */
const PASSING = /[/\\](?:_npx|dlx-[^/\\]*|bunx-[^/\\]*|xfs-[^/\\]*|fnm_multishells)[/\\]/

/** The command line of the service: absolute paths that stay. Throws USAGE where a part of it is in a cache that is emptied. */
export const lastingCommand = (guard: readonly string[], path: string): readonly string[] => {
  const [node = process.execPath, ...more] = guard
  const script = more.at(-1) ?? ''
  const command = [lastingNode(node, path), ...more.slice(0, -1), resolve(script)]
  const passing = command.find((word) => PASSING.test(word))
  if (passing === undefined) return command
  throw new GuardError(
    'USAGE',
    `${passing} is in a folder that is emptied now and then, and the service would be gone with it. Install the package first, "npm install --global guard-gateway" or in a folder that stays, and run "guard service install" from there.`,
  )
}

/** Homebrew removes the folder of a version when it brings the next one; a link to it on the path stays. */
const lastingNode = (node: string, path: string): string => {
  if (!node.includes('/Cellar/')) return node
  const links = path.split(delimiter).map((folder) => join(folder, 'node'))
  return links.find((link) => !PASSING.test(link) && realOf(link) === realOf(node)) ?? node
}

const realOf = (file: string): string | undefined => {
  try {
    return realpathSync(file)
  } catch {
    return undefined
  }
}

/** The folders of a path that stay, with that of node first: MCP servers are started by `npx` and the like. */
export const lastingPath = (path: string, node: string): string => {
  const folders = path
    .split(delimiter)
    .filter(
      (folder) => isAbsolute(folder) && !PASSING.test(`${folder}/`) && !/node_modules[/\\]\.bin[/\\]?$/.test(folder),
    )
  return [...new Set([dirname(node), ...folders, '/usr/local/bin', '/usr/bin', '/bin'])].join(delimiter)
}
