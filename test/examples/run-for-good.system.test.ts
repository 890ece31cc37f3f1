import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { parseAllDocuments, parse as parseYaml } from 'yaml'
import { parseConfig } from '../../presets/default/config.ts'
import { commandHome } from '../kit/command-home.ts'
import { installed } from '../kit/installed.ts'
import { signed } from '../kit/private-authority.ts'

const folder = join(import.meta.dirname, '../../examples/run-for-good')
const text = (name: string): string => readFileSync(join(folder, name), 'utf8')
const temporary = mkdtempSync(join(tmpdir(), 'guard-run-for-good-'))
after(() => rmSync(temporary, { recursive: true }))

const env = { GUARD_KEY: 'guard_0123456789abcdef0123', ANTHROPIC_API_KEY: 'sk-ant-0123456789' }
const loaded = () => parseConfig(text('gateway.yml'), join(folder, 'gateway.yml'), env)
const quiet = { stdio: 'pipe' } as const
const MARGIN = 10

describe('examples/run-for-good', () => {
  it('has a configuration that a gateway takes, whose secrets come from the environment', async () => {
    const { config, warnings } = await loaded()
    assert.deepEqual(warnings, [])
    assert.equal(config.storage.file, '/data/guard.db')
    for (const name of Object.keys(env)) assert.ok(text('gateway.yml').includes(`\${${name}}`), name)
  })
  it('has a Compose file for this machine alone, with a grace and a log that is bounded', async () => {
    const { server } = (await loaded()).config
    const { guard, ...others } = parseYaml(text('compose.yml')).services
    assert.deepEqual(others, {})
    assert.deepEqual(Object.keys(guard.environment).sort(), Object.keys(env).sort())
    assert.deepEqual(guard.ports, [`127.0.0.1:${server.port}:${server.port}`])
    assert.deepEqual(guard.volumes, ['./gateway.yml:/etc/guard/guard-config.yml:ro', 'data:/data'])
    assert.deepEqual(Object.keys(guard.logging.options), ['max-size', 'max-file'])
    assert.deepEqual([guard.read_only, guard.cap_drop, guard.init], [true, ['ALL'], true])
    assert.ok(Number.parseInt(guard.stop_grace_period, 10) >= server.shutdown_grace_seconds + MARGIN)
    assert.equal(guard.build.dockerfile, 'examples/run-for-good/Dockerfile')
  })
  it('has manifests for one pod, whose probes, ports, keys, volumes and times are those of the gateway', async () => {
    const { server } = (await loaded()).config
    const documents = parseAllDocuments(text('kubernetes/guard.yml'))
    for (const { errors } of documents) assert.deepEqual(errors, [])
    const [set, service, job] = documents.map((document) => document.toJS())
    assert.deepEqual([set.kind, set.spec.replicas, service.kind, job.kind], ['StatefulSet', 1, 'Service', 'CronJob'])
    const { template } = set.spec
    const [container] = template.spec.containers
    assert.deepEqual(container.ports, [{ name: 'http', containerPort: server.port }])
    assert.deepEqual(
      ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => container[probe].httpGet.path),
      ['/livez', '/livez', '/readyz'],
    )
    assert.deepEqual(container.env.map(({ name }: { name: string }) => name).sort(), Object.keys(env).sort())
    for (const selector of [set.spec.selector.matchLabels, service.spec.selector])
      assert.deepEqual(selector, template.metadata.labels)
    assert.ok(template.spec.terminationGracePeriodSeconds >= server.shutdown_grace_seconds + MARGIN)
    const names = (list: readonly { name: string }[]) => list.map(({ name }) => name)
    const [claim] = set.spec.volumeClaimTemplates
    const backup = job.spec.jobTemplate.spec.template.spec
    for (const { containers, volumes } of [
      { containers: template.spec.containers, volumes: [...names(template.spec.volumes), claim.metadata.name] },
      { containers: backup.containers, volumes: names(backup.volumes) },
    ])
      assert.deepEqual(names(containers[0].volumeMounts).sort(), [...volumes].sort())
    assert.equal(
      backup.volumes.find(({ name }: { name: string }) => name === 'data').persistentVolumeClaim.claimName,
      `${claim.metadata.name}-${set.metadata.name}-0`,
    )
  })
  it('has an image that is not of root, keeps its data in a volume, and is asked whether it is ready', () => {
    const image = text('Dockerfile')
    const [, copied = ''] = /COPY --from=build \/(\S+)-\*\.tgz/.exec(image) ?? []
    assert.equal(copied, JSON.parse(readFileSync(join(folder, '../../package.json'), 'utf8')).name)
    assert.match(image, /^USER node$/m)
    assert.match(image, /^VOLUME \/data$/m)
    assert.match(image, /npm install --global --omit=dev/)
    const [, check = '[]'] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(image) ?? []
    assert.match((JSON.parse(check) as string[]).join(' '), /127\.0\.0\.1:8787\/readyz/)
    assert.deepEqual(JSON.parse(/^CMD (\[.*\])$/m.exec(image)?.[1] ?? '[]'), ['guard', 'gateway', 'run', '--json'])
  })
  it('has a table in its README that names every file', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    for (const name of files.filter((file) => statSync(join(folder, file)).isFile() && !/README|ignore/.test(file)))
      assert.ok(text('README.md').includes(`\`${name}\``), name)
  })
  it('has a service for OpenRC that a shell reads', () => {
    execFileSync('sh', ['-n', join(folder, 'guard.openrc')], quiet)
  })
})

const haproxy = installed('haproxy')
it('examples/run-for-good/haproxy.cfg is valid for HAProxy', { skip: haproxy.absent }, () => {
  const [pem, config] = [join(temporary, 'guard.pem'), join(temporary, 'haproxy.cfg')]
  writeFileSync(pem, signed.cert + signed.key)
  writeFileSync(config, text('haproxy.cfg').replace('/etc/haproxy/guard.pem', pem))
  execFileSync(haproxy.path, ['-c', '-q', '-f', config], quiet)
})

const nginx = installed('nginx')
it('examples/run-for-good/nginx.conf is valid for nginx', { skip: nginx.absent }, () => {
  const config = join(temporary, 'nginx.conf')
  writeFileSync(join(temporary, 'guard.crt'), signed.cert)
  writeFileSync(join(temporary, 'guard.key'), signed.key)
  const site = text('nginx.conf').replaceAll('/etc/nginx/', `${temporary}/`)
  writeFileSync(config, `pid ${temporary}/nginx.pid;\nevents {}\nhttp { access_log off;\n${site}}\n`)
  execFileSync(nginx.path, ['-t', '-q', '-p', temporary, '-c', config, '-e', 'stderr'], quiet)
})

const analyze = installed('systemd-analyze')
describe('examples/run-for-good/systemd', { skip: analyze.absent }, () => {
  const verify = (...args: readonly string[]) =>
    execFileSync(analyze.path, ['verify', ...args], {
      ...quiet,
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: temporary },
    })
  it('has a drop-in that fits the system unit of scale-out', () => {
    const unit = readFileSync(join(folder, '../scale-out/guard.service'), 'utf8')
    mkdirSync(join(temporary, 'guard.service.d'))
    writeFileSync(join(temporary, 'guard.service'), unit.replace('/usr/bin/guard', process.execPath))
    const drop = text('systemd/sqlite.conf').replace('=/usr/bin/guard', `=${process.execPath}`)
    writeFileSync(join(temporary, 'guard.service.d/sqlite.conf'), drop)
    assert.equal(verify(join(temporary, 'guard.service')), '')
  })
  it('has a timer for backups that systemd takes', () => {
    for (const name of ['guard-backup.service', 'guard-backup.timer'])
      cpSync(join(folder, 'systemd', name), join(temporary, name))
    assert.equal(verify('--user', join(temporary, 'guard-backup.service'), join(temporary, 'guard-backup.timer')), '')
  })
})

describe('the backups of the recipes', () => {
  /** A home with a database, and `guard` on its path. */
  const home = async () => {
    const place = await commandHome()
    await place.guard('sessions', 'list')
    const bin = join(import.meta.dirname, '../../presets/default/bin.js')
    const words = [process.execPath, ...process.execArgv.filter((word) => word.startsWith('--conditions=')), bin]
    const shim = join(place.folder, 'guard')
    writeFileSync(shim, `#!/bin/sh\nexec ${words.map((word) => `"${word}"`).join(' ')} "$@"\n`, { mode: 0o755 })
    return place
  }
  const backups = (place: string) => readdirSync(join(place, 'guard-backups')).map((name) => name.replace(/\d/g, '0'))

  it('of cron, and of the timer, are made as their lines say', async (context) => {
    const { folder: place, remove } = await home()
    context.after(remove)
    const run = (line: string) =>
      execFileSync('sh', ['-c', line], { ...quiet, env: { PATH: `${place}:${process.env.PATH}`, HOME: place } })
    const [, cron = ''] = /^30 3 \* \* \* (.*)$/m.exec(text('README.md')) ?? []
    mkdirSync(join(place, 'guard-backups'))
    run(cron.replaceAll('\\%', '%'))
    const unit = text('systemd/guard-backup.service')
    const lines = [...unit.matchAll(/^ExecStart=\/bin\/sh -c '(.*)'$/gm)].map(([, line = '']) => line)
    assert.equal(lines.length, 2)
    for (const line of lines) run(line.replaceAll('%%', '%'))
    assert.deepEqual(backups(place).sort(), ['guard-0000-00-00-000000.db', 'guard-0000-00-00.db'])
  })
  it('of Kubernetes are made with the variables and the folder of its job', async (context) => {
    const { folder: place, remove } = await home()
    context.after(remove)
    const job = parseAllDocuments(text('kubernetes/guard.yml'))[2]?.toJS()
    const [{ args, env: given }] = job.spec.jobTemplate.spec.template.spec.containers
    const names = given.map(({ name }: { name: string }) => name)
    assert.deepEqual(names, ['GUARD_KEY'])
    const configured = text('gateway.yml').replace('/data/guard.db', join(place, 'guard.db'))
    writeFileSync(join(place, 'guard-config.yml'), configured)
    const variables = { GUARD_KEY: env.GUARD_KEY, GUARD_CONFIG: join(place, 'guard-config.yml') }
    execFileSync('sh', ['-c', args[0].replaceAll('/data', place)], {
      ...quiet,
      env: { ...variables, PATH: `${place}:${process.env.PATH}`, HOME: place },
    })
    assert.equal(readdirSync(join(place, 'backups')).length, 1)
  })
})
