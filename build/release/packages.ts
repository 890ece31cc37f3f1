import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/** What each package may hold at most. */
const BUDGETS = {
  'guard-gateway': { files: 1_100, packed_bytes: 3_200_000, bytes: 12_000_000 },
  'guard-gateway-sdk': { files: 180, packed_bytes: 150_000, bytes: 600_000 },
} as const
type Name = keyof typeof BUDGETS

export interface Packed {
  readonly name: Name
  readonly version: string
  readonly file: string
  readonly files: number
  readonly packed_bytes: number
  readonly bytes: number
}

/** Builds and packs the gateway and the SDK. */
export const packBoth = (root: string, target: string): readonly Packed[] => {
  mkdirSync(target, { recursive: true })
  return [root, join(root, 'dist-sdk')].map((folder) => {
    const out = execFileSync('npm', ['pack', '--json', '--pack-destination', target], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [packed] = JSON.parse(out.slice(out.search(/^\[/m))) as [NpmPack]
    const { name, version, filename, files, size, unpackedSize } = packed
    return { name, version, file: join(target, filename), files: files.length, packed_bytes: size, bytes: unpackedSize }
  })
}

interface NpmPack {
  readonly name: Name
  readonly version: string
  readonly filename: string
  readonly files: readonly unknown[]
  readonly size: number
  readonly unpackedSize: number
}

/** What is wrong with a packed file, by its budget, its manifest and its types. */
export const faultsOf = async (packed: Packed): Promise<readonly string[]> => {
  const bytes = readFileSync(packed.file)
  const budget = BUDGETS[packed.name]
  const over = (['files', 'packed_bytes', 'bytes'] as const).flatMap((what) =>
    packed[what] > budget[what] ? [`${what}: ${packed[what]}, more than ${budget[what]}`] : [],
  )
  const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true })
  const manifest = messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code)
  const found = [...over, ...manifest, ...(await typeFaults(bytes))]
  return found.map((fault) => `${packed.name} ${packed.version}: ${fault}`)
}

/** Node has required ES modules since 22.12, so that declarations for it describe ES modules. Node 10's way knows no `exports`. */
const EXPECTED: ReadonlySet<string> = new Set(['FalseCJS', 'CJSResolvesToESM'])

const typeFaults = async (bytes: Uint8Array): Promise<readonly string[]> => {
  const analysis = await checkPackage(createPackageFromTarballData(bytes))
  if (analysis.types === false) return ['there are no types']
  return analysis.problems.flatMap((problem) => {
    const at = 'entrypoint' in problem ? problem.entrypoint : ''
    const how = 'resolutionKind' in problem ? problem.resolutionKind : ''
    return EXPECTED.has(problem.kind) || how === 'node10' || at.endsWith('.txt') ? [] : [`${problem.kind} ${at} ${how}`]
  })
}
