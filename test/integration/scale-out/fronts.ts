import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { installed } from '../../kit/installed.ts'

const recipe = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../../examples/scale-out', name), 'utf8')

/** A load balancer of the recipes. */
export interface Front {
  readonly file: string
  readonly program: ReturnType<typeof installed>
  /** The recipe with the addresses of this test, and nothing else changed. */
  config(folder: string, port: number): string
  args(file: string, folder: string): readonly string[]
  /** It knows the gateway of an MCP session by its id, not by the client. */
  readonly readsIds: boolean
}

export const fronts: readonly Front[] = [
  {
    file: 'haproxy.cfg',
    program: installed('haproxy'),
    config: (folder, port) =>
      recipe('haproxy.cfg')
        .replace('bind :443', `bind 127.0.0.1:${port}`)
        .replace('/usr/local/etc/haproxy/guard.pem', join(folder, 'guard.pem'))
        .replaceAll(/^ {2}server guard3 .*\n/gm, ''),
    args: (file) => ['-q', '-f', file],
    readsIds: true,
  },
  {
    file: 'nginx.conf',
    program: installed('nginx'),
    config: (folder, port) =>
      `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;\n${recipe('nginx.conf')}`
        .replace(
          'http {',
          `http { access_log off; ${TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}`,
        )
        .replace('listen 443', `listen 127.0.0.1:${port}`)
        .replaceAll('/etc/nginx/', `${folder}/`)
        .replaceAll(/^ {4}server guard3:.*\n/gm, ''),
    args: (file, folder) => ['-p', folder, '-c', file, '-e', 'stderr'],
    readsIds: false,
  },
]
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
