import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { parseAllDocuments, parse as parseYaml } from 'yaml'
import { classOf } from '../../plugins/http/admission/route-class.ts'
import { parseConfig } from '../../presets/default/config.ts'
import { installed } from '../kit/installed.ts'
import { signed } from '../kit/private-authority.ts'

const folder = join(import.meta.dirname, '../../examples/scale-out')
const text = (name: string): string => readFileSync(join(folder, name), 'utf8')
const temporary = mkdtempSync(join(tmpdir(), 'guard-scale-out-'))
after(() => rmSync(temporary, { recursive: true }))

const env = {
  GUARD_KEY: 'guard_0123456789abcdef0123',
  DATABASE_URL: 'postgres://guard:secret@postgres:5432/guard?sslmode=disable',
  ANTHROPIC_API_KEY: 'sk-ant-0123456789',
}
const loaded = () => parseConfig(text('gateway.yml'), join(folder, 'gateway.yml'), env)
const GRACE_AND_MORE = 10

describe('examples/scale-out', () => {
  it('has a configuration that a gateway takes, whose secrets come from the environment', async () => {
    const { config, warnings } = await loaded()
    assert.deepEqual(warnings, [])
    assert.equal(config.storage.backend, 'postgres')
    assert.equal(config.storage.url, env.DATABASE_URL)
    for (const name of Object.keys(env)) assert.ok(text('gateway.yml').includes(`\${${name}}`), name)
  })

  it('has a Compose file that gives every gateway what its configuration names', async () => {
    const { server } = (await loaded()).config
    const { services } = parseYaml(text('compose.yml'), { merge: true }) as {
      services: Record<string, Record<string, never>>
    }
    const guards = Object.keys(services).filter((name) => name.startsWith('guard'))
    assert.deepEqual(guards, ['guard1', 'guard2', 'guard3'])
    for (const name of guards) {
      const { environment, volumes, stop_grace_period, healthcheck } = services[name] as unknown as {
        environment: Record<string, string>
        volumes: string[]
        stop_grace_period: string
        healthcheck: { test: string[] }
      }
      assert.deepEqual(Object.keys(environment).sort(), Object.keys(env).sort())
      assert.ok(volumes.includes('./gateway.yml:/etc/guard/guard-config.yml:ro'))
      assert.ok(Number.parseInt(stop_grace_period, 10) >= server.shutdown_grace_seconds + GRACE_AND_MORE)
      assert.ok(healthcheck.test.join(' ').includes(`127.0.0.1:${server.port}/livez`))
    }
    for (const name of ['haproxy.cfg', 'nginx.conf'])
      for (const guard of guards) assert.ok(text(name).includes(` ${guard}:${server.port}`), `${name}: ${guard}`)
  })

  it('has manifests whose probes, ports, keys and times are those of the gateway', async () => {
    const { server } = (await loaded()).config
    const documents = parseAllDocuments(text('kubernetes/guard.yml'))
    for (const { errors } of documents) assert.deepEqual(errors, [])
    const all = documents.map((document) => document.toJS())
    assert.deepEqual(
      all.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`),
      ['apps/v1 Deployment', 'v1 Service', 'policy/v1 PodDisruptionBudget'],
    )
    const [{ spec }, service, budget] = all
    const { template } = spec
    const [container] = template.spec.containers
    assert.deepEqual(container.ports, [{ name: 'http', containerPort: server.port }])
    assert.deepEqual(service.spec.ports, [{ name: 'http', port: server.port, targetPort: 'http' }])
    for (const [probe, path] of [
      ['startupProbe', '/livez'],
      ['livenessProbe', '/livez'],
      ['readinessProbe', '/readyz'],
    ]) {
      assert.deepEqual(container[String(probe)].httpGet, { path, port: 'http' })
      assert.equal(classOf(String(path)), 'health')
    }
    assert.deepEqual(container.env.map(({ name }: { name: string }) => name).sort(), Object.keys(env).sort())
    for (const selector of [spec.selector.matchLabels, service.spec.selector, budget.spec.selector.matchLabels])
      assert.deepEqual(selector, template.metadata.labels)
    assert.ok(budget.spec.minAvailable < spec.replicas)
    assert.ok(template.spec.terminationGracePeriodSeconds >= server.shutdown_grace_seconds + 5 + GRACE_AND_MORE)
    const mounts = container.volumeMounts.map(({ name }: { name: string }) => name)
    assert.deepEqual(
      template.spec.volumes.map(({ name }: { name: string }) => name),
      mounts,
    )
  })

  it('has the image of run-for-good', () => {
    assert.ok(text('compose.yml').includes('dockerfile: examples/run-for-good/Dockerfile'))
  })

  it('has a table in its README that names every file', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      statSync(join(folder, name)).isFile(),
    )
    for (const name of files.filter((file) => !/README|dockerignore/.test(file)))
      assert.ok(text('README.md').includes(`\`${name}\``), name)
  })
})

const haproxy = installed('haproxy')
it('examples/scale-out/haproxy.cfg is valid for HAProxy', { skip: haproxy.absent }, () => {
  const [pem, config] = [join(temporary, 'guard.pem'), join(temporary, 'haproxy.cfg')]
  writeFileSync(pem, signed.cert + signed.key)
  writeFileSync(config, text('haproxy.cfg').replace('/usr/local/etc/haproxy/guard.pem', pem))
  execFileSync(haproxy.path, ['-c', '-q', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] })
})

const nginx = installed('nginx')
it('examples/scale-out/nginx.conf is valid for nginx', { skip: nginx.absent }, () => {
  const config = join(temporary, 'nginx.conf')
  writeFileSync(join(temporary, 'guard.crt'), signed.cert)
  writeFileSync(join(temporary, 'guard.key'), signed.key)
  // names of a network that is not here
  const here = text('nginx.conf')
    .replaceAll('/etc/nginx/', `${temporary}/`)
    .replace(/ guard(\d):/g, ' 127.0.0.$1:')
  writeFileSync(
    config,
    `pid ${temporary}/nginx.pid;\nerror_log stderr;\n${here.replace('http {', 'http { access_log off;')}`,
  )
  execFileSync(nginx.path, ['-t', '-q', '-p', temporary, '-c', config, '-e', 'stderr'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
})

const analyze = installed('systemd-analyze')
it('examples/scale-out/guard.service is valid for systemd', { skip: analyze.absent }, () => {
  const unit = join(temporary, 'guard.service')
  writeFileSync(unit, text('guard.service').replace('/usr/bin/guard', process.execPath))
  execFileSync(analyze.path, ['verify', unit], { stdio: ['ignore', 'pipe', 'pipe'] })
})
