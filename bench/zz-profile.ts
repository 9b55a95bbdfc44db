import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { FLAGS, startAccount } from './full-account.ts';
import { startServer } from './server.ts';
const data_dir = mkdtempSync(join(tmpdir(), 'palisade-opening-'));
const server = await startServer(data_dir);
const browser = await chromium.launchPersistentContext('', { executablePath: '/usr/bin/chromium', args: FLAGS });
try {
  await (await startAccount(server))(browser);
  for (let i = 0; i < 5; i++) {
    const page = await browser.newPage();
    await page.setViewportSize({ width: 412, height: 823 });
    const client = await page.context().newCDPSession(page);
    if (i === 4) { await client.send('Profiler.enable'); await client.send('Profiler.setSamplingInterval', { interval: 200 }); await client.send('Profiler.start'); }
    if (i === 3) { 
      await browser.browser()?.startTracing?.(page, { path: '/tmp/s6-trace.json', categories: ['devtools.timeline','disabled-by-default-devtools.timeline','v8.execute','blink.user_timing','loading','v8','disabled-by-default-v8.compile','toplevel'] }).catch((e) => console.log(String(e)));
    }
    const t0 = performance.now();
    await page.goto(`${server.url}/dashboard`);
    await page.locator('main .dashboard__columns').waitFor();
    console.log('run', i, performance.now() - t0);
    console.log(JSON.stringify(await page.evaluate(`(() => { const n = performance.getEntriesByType('navigation')[0]; return { resp: n.responseEnd, interactive: n.domInteractive, dcl: n.domContentLoadedEventEnd, load: n.loadEventEnd, paint: performance.getEntriesByType('paint').map(p=>[p.name,p.startTime]), res: performance.getEntriesByType('resource').map(r=>[r.name.replace(/^.*\\//,''), Math.round(r.startTime), Math.round(r.responseEnd), r.transferSize]) } })()`)));
    if (i === 4) { const { profile } = await client.send('Profiler.stop'); writeFileSync('/tmp/s6.cpuprofile', JSON.stringify(profile)); }
    await page.close();
  }
} finally { await browser.close(); await server.stop(); rmSync(data_dir, { recursive: true, force: true }); }
