import { spawn } from 'node:child_process'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command, Input, Io } from '#lib/command'

/** Flag to what it means; each stands for the flag of the same name of the bench. */
const options: Readonly<Record<string, string>> = {
  '--suite <names>':
    'vectors, corpus, synthetic (how right), throughput, load, sockets, mcp, replay, pages (how fast), daemon (start, memory, first requests), scale (several gateways on one PostgreSQL); separated by commas',
  '--detector <id_or_file...>': 'a detector, also a file of your own',
  '--preset <name_or_file...>': 'a list of rules',
  '--peer <id...>': 'the guard of another agent by its published rule, or all',
  '--data <folder>': 'trajectories: .jsonl or .jsonl.gz files; else GUARD_BENCH_DATA',
  '--split <name>': 'trajectories of this part alone',
  '--out <file>': 'write observations and summaries here, a JSON object a line',
  '--price <dollars>': 'a million tokens; what money is estimated by',
  '--baseline <file>': 'set the figures beside those that were written with --out',
  '--fail-if <bound...>': 'exit 1 if it holds, for example "clean_fp_rate>0.01"',
  '--groups': 'figures by source and kind, too',
  '--full': 'of the suites scale and daemon: all requests, rows and pauses, which takes many minutes',
  '--requests <number>': 'of the suite daemon: chats after which memory is measured',
  '--idle <seconds>': 'of the suite daemon: how long nothing is asked after them',
  '--portkey <folder>': 'of the suite daemon: an installed Portkey gateway to stand beside; else GUARD_BENCH_PORTKEY',
  '--against <checkout>': 'of the suites load and daemon: another checkout to measure beside this one',
  '--smoke': 'seconds: shows that everything runs',
  '--seed <number>': 'of the synthetic runs; 1 if not said',
  '--rounds <number>': 'of the suites load, mcp, replay, pages, scale, sockets and daemon',
  '--profile <folder>': 'write profiles of the gateway under load',
  '--list': 'names of what would run',
}

/** `guard bench`: runs the bench in a process of its own, since it measures time. */
export const benchCommand: Command = {
  id: 'bench',
  args: '[...cases]',
  summary: 'measure how right and how fast the detectors are',
  options,
  example: ['guard bench', 'guard bench --detector ./my-detector.ts --data trajectories'],
  standalone: true,
  run: (input, io) => runBench(argumentsOf(input), io),
}

/** The arguments that the bench would have been given itself. */
const argumentsOf = ({ args, options: flags }: Input): string[] => {
  const list = [...args]
  for (const name of [...Object.keys(options).map(nameOf), 'json']) {
    const value = flags[camel(name)]
    if (value === true) list.push(`--${name}`)
    else if (value !== undefined && value !== false) for (const one of [value].flat()) list.push(`--${name}=${one}`)
  }
  return list
}

const nameOf = (flag: string): string => flag.slice(2).split(' ')[0] ?? ''

const camel = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

const runBench = (args: readonly string[], io: Io): Promise<number> => {
  const kit = fileURLToPath(import.meta.resolve('guard-gateway/bench'))
  const script = join(dirname(kit), `run${extname(kit)}`)
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
      cwd: io.cwd,
      env: { ...process.env, ...io.env },
      // the channel says nothing: it closes when this process ends, however it does, and that ends the bench
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    child.stdout?.pipe(io.out, { end: false })
    child.stderr?.pipe(io.err, { end: false })
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}
