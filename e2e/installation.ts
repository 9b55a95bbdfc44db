import { hash, randomBytes, randomUUID } from 'node:crypto';
import { type Browser, type BrowserContext, type BrowserContextOptions, expect, type Page } from '@playwright/test';
import { openRows, type Rows } from './rows.ts';

type Role = 'customer' | 'support' | 'admin';

export const PASSWORD = 'a long enough password';
/** Hash of PASSWORD, with the parameters of server/src/features/auth/password.ts. */
const PASSWORD_HASH = '$argon2id$v=19$m=19456,t=2,p=1$D899FS84BMUe/Qq0lvMVhQ$GRxxJhWPmtHP5T9FQG/JhLOvwV7/jPDhzkmMoMcxOU8';
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36';
const PLAN = {
  currency: 'USD',
  duration_months: 12,
  max_devices: 5,
  is_premium: 1,
  features: JSON.stringify([
    'Anti-hacking monitor',
    'Five devices',
    'Remote support',
    'Two scanning engines',
    'Priority support',
  ]),
};

interface PersonOptions {
  role?: Role;
  /** Whether the person has a premium plan. */
  is_premium?: boolean;
}

export interface Person {
  id: string;
  name: string;
  email: string;
  role: Role;
  /** Headers of calls in the person's session. */
  headers: { authorization: string };
}

/** Options of a window. `browser` opens it in another browser than the worker's. */
export type WindowOptions = BrowserContextOptions & { browser?: Browser };

interface Running {
  url: string;
  data_dir: string;
  database_url?: string | undefined;
}

/** The id of a new record: a UUIDv7 (RFC 9562 section 5.7), like the server's. */
function newId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** A running server and its people. Tests write people, sessions and plans directly into its database. */
export class Installation {
  readonly url: string;
  readonly data_dir: string;
  readonly rows: Rows;
  private readonly browser: Browser;
  private readonly contexts: BrowserContext[] = [];

  private constructor(server: Running, rows: Rows, browser: Browser) {
    this.url = server.url;
    this.data_dir = server.data_dir;
    this.rows = rows;
    this.browser = browser;
  }

  static async of(server: Running, browser: Browser): Promise<Installation> {
    return new Installation(server, await openRows(server), browser);
  }

  /** Adds a person with a session, by default a customer without a plan. The password is PASSWORD. */
  async add(name: string, { role = 'customer', is_premium = false }: PersonOptions = {}): Promise<Person> {
    const [id, token, now] = [newId(), randomBytes(32).toString('base64url'), new Date().toISOString()];
    const email = `${name}@example.com`;
    await this.rows.insert('users', {
      id,
      email,
      username: name,
      username_key: name,
      password_hash: PASSWORD_HASH,
      common_password: 0,
      role,
      created_at: now,
      email_proven_at: now,
      staff_since: role === 'customer' ? null : now,
    });
    await this.rows.insert('sessions', {
      id: newId(),
      token_hash: hash('sha256', token),
      user_id: id,
      created_at: now,
      last_used_at: now,
      user_agent: CHROME,
      source: '127.0.0.1',
    });
    if (is_premium) await this.givePlan(id);
    return { id, name, email, role, headers: { authorization: `Bearer ${token}` } };
  }

  private async givePlan(user_id: string): Promise<void> {
    const now = new Date();
    const expires_at = new Date(now.getTime() + 365 * 86_400_000).toISOString();
    await this.rows.insert('subscriptions', {
      ...PLAN,
      id: newId(),
      user_id,
      plan_name: 'Family Shield',
      price_cents: 1999,
      starts_at: now.toISOString(),
      expires_at,
    });
  }

  /** A plan that people can request. */
  async addTemplate(template_name: string): Promise<string> {
    const [id, created_at] = [newId(), new Date().toISOString()];
    await this.rows.insert('subscription_templates', {
      ...PLAN,
      id,
      template_name,
      template_name_key: template_name.toLowerCase(),
      base_price_cents: 1999,
      created_at,
    });
    return id;
  }

  /** A signed-out window with empty storage. */
  async window(options: WindowOptions = {}): Promise<Page> {
    const { browser = this.browser, ...more } = options;
    const context = await browser.newContext({ baseURL: this.url, ...more });
    this.contexts.push(context);
    return await context.newPage();
  }

  /** A window of a signed-in person. A name alone adds a new person. */
  async open(who: string | Person, path = '/dashboard', options: PersonOptions & WindowOptions = {}): Promise<Page> {
    const { role, is_premium, ...more } = options;
    const person =
      typeof who === 'string' ? await this.add(who, { ...(role && { role }), ...(is_premium && { is_premium }) }) : who;
    const { id, email, name: username } = person;
    const kept = {
      'palisade.access_token': person.headers.authorization.slice('Bearer '.length),
      'palisade.user_info': JSON.stringify({ id, email, username, role: person.role }),
      'palisade.browser_id': randomUUID(),
    };
    const localStorage = Object.entries(kept).map(([name, value]) => ({ name, value }));
    const page = await this.window({ ...more, storageState: { cookies: [], origins: [{ origin: this.url, localStorage }] } });
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    return page;
  }

  async closeWindows(): Promise<void> {
    for (const context of this.contexts.splice(0)) await context.close();
  }
}
