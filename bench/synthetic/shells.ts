import type { Step } from '../quality/trajectory.ts'
import { turn } from './author.ts'

/** How a client requests a shell command, and the frame around its output. */
export type Shell = (command: string, output: string) => Step

/** Figures that vary from call to call, equal for equal commands. */
const noiseOf = (command: string): number => [...command].reduce((sum, one) => (sum * 31 + one.charCodeAt(0)) % 9973, 7)

/** Shells of clients by name, with their tool names, arguments and frames. */
export const shells = {
  claude_code: (command, output) =>
    turn('Bash', { command, description: `Runs ${command}` }, output || '(Bash completed with no output)'),
  opencode: (command, output) => turn('bash', { command, description: `Runs ${command}` }, output || '(no output)'),
  pi: (command, output) => turn('bash', { command }, output || '(no output)'),
  codex: (cmd, output) =>
    turn('exec_command', { cmd, yield_time_ms: 1000 }, codexFrame(noiseOf(cmd), 'Process exited with code 0', output)),
  gemini_cli: (command, output) => turn('run_shell_command', { command }, `Output: ${output || '(empty)'}`),
  qwen_code: (command, output) =>
    turn(
      'run_shell_command',
      { command, is_background: false },
      [
        `Command: ${command}`,
        'Directory: (root)',
        `Output: ${output || '(empty)'}`,
        'Error: (none)',
        'Exit Code: 0',
        'Signal: (none)',
        'Background PIDs: (none)',
        `Process Group PGID: ${noiseOf(command)}`,
      ].join('\n'),
    ),
  mini_swe: (command, output) =>
    turn('bash', { command }, `<returncode>0</returncode>\n<output>\n${output === '' ? '' : `${output}\n`}</output>`),
  openhands: (command, output) =>
    turn(
      'execute_bash',
      { command },
      `${output}\n[The command completed with exit code 0.]\n[Current working directory: /workspace]`,
    ),
  swe_agent: (command, output) =>
    turn('bash', { command }, output || 'Your command ran successfully and did not produce any output.'),
} as const satisfies Readonly<Record<string, Shell>>

/** The frame of Codex. Its first lines differ each time. */
export const codexFrame = (noise: number, state: string, output: string): string =>
  [
    `Chunk ID: ${noise.toString(16).padStart(6, 'a')}`,
    `Wall time: 0.${String(noise).padStart(4, '0')} seconds`,
    state,
    `Original token count: ${Math.ceil(output.length / 4)}`,
    'Output:',
    output,
  ].join('\n')
