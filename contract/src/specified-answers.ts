/** Replies with only the specification's fields (sections 3 and 7), as a server that implements only the specification would send them: for tests of the reader. */

const TIME = '2026-11-20T10:00:00.123456';
const subscription = {
  has_subscription: true,
  plan_name: 'Gold',
  is_premium: true,
  expires_at: null,
  price: 9.99,
  currency: 'USD',
  features: ['One', 'Two'],
};
const scan = { id: 'scan-1', filename: 'report.pdf', scan_status: 'clean', scanned_at: TIME, file_hash: '9f86d081884c7d65' };
const rule = {
  ...{ id: '7', rule_name: 'Web', direction: 'inbound', action: 'allow', protocol: 'tcp', source_ip: '*', destination_ip: '*' },
  ...{ port: '443', enabled: true, created_at: TIME },
};
const message = { id: 'm-1', user_id: 'u-1', message: 'Hello', sender: 'support', timestamp: TIME, is_read: true };
const session = {
  id: 's-1',
  session_code: 'K7M4QP9XD',
  status: 'completed',
  started_at: TIME,
  ended_at: TIME,
  support_agent: 'tina',
};
const alert = {
  ...{ id: 'a-1', threat_type: 'brute_force', severity: 'high', description: 'Many wrong passwords.', created_at: TIME },
  ...{ blocked: true, ip_address: '203.0.113.5' },
};
const stats = {
  ...{ threats_blocked_today: 1, intrusion_attempts_stopped: 2, brute_force_attempts_blocked: 3, threats_blocked_total: 6 },
};
const template = {
  ...{
    id: 't-1',
    template_name: 'Gold',
    base_price: 9.99,
    duration_months: 12,
    max_devices: 3,
    is_premium: true,
    features: ['One'],
  },
};
const listed = {
  ...{ id: 'p-1', user_email: 'maria@example.com', user_username: 'maria', plan_name: 'Gold', price: 9.99, currency: 'USD' },
  ...{ duration_months: 12, is_premium: true, status: 'active' },
};

/** Keys are method and path from the specification's section 7. Replies that the specification does not show are plausible ones. */
export const SPECIFIED_ANSWERS: Readonly<Record<string, unknown>> = {
  'POST /auth/login': { access_token: 'token', user_info: { username: 'maria', email: 'maria@example.com' } },
  'POST /auth/register': { message: 'User registered' },
  'POST /auth/forgot-password': { reset_token: 'abc', expires_in: 900 },
  'POST /auth/reset-password': { message: 'Password updated' },
  'POST /auth/recover-username': { username: 'maria' },
  'GET /dashboard/status': { security_score: 100, last_scan: 'Never', subscription, recent_scans: [scan] },
  'GET /antivirus/scans': [
    scan,
    { ...scan, id: 'scan-2', scan_status: 'infected', threat_detected: 'Eicar' },
    { ...scan, id: 3, scan_status: 'new' },
  ],
  'POST /antivirus/scan': scan,
  'GET /firewall/rules': [rule],
  'POST /firewall/rules': rule,
  'PUT /firewall/rules/{id}': { message: 'ok' },
  'DELETE /firewall/rules/{id}': { message: 'ok' },
  'GET /chat/messages': [message, { ...message, id: 'm-0', sender: 'user', timestamp: '2026-11-20T09:59:00Z' }],
  'POST /chat/messages': { ...message, id: 'm-2', sender: 'user' },
  'GET /remote/sessions': [session],
  'POST /remote/session': { ...session, status: 'pending', ended_at: null, support_agent: null },
  'POST /admin/setup-config': { success: true },
  'GET /admin/subscriptions': [listed, { ...listed, id: 'p-2', status: 'suspended', expires_at: TIME }],
  'GET /admin/subscription-templates': [template],
  'POST /admin/assign-subscription': { success: true },
  'POST /admin/subscription-templates': { success: true },
  'GET /subscription/current': { is_premium: true },
  'GET /premium/anti-hacking/alerts': [alert, { ...alert, id: 'a-2', threat_type: 'quantum_attempt', severity: 'severe' }],
  'GET /premium/anti-hacking/stats': stats,
  'GET /premium/anti-hacking/live-feed': { live_threats: [alert], current_stats: stats },
  'POST /premium/anti-hacking/simulate-threat': { success: true, threat_detected: alert },
  'POST /premium/anti-hacking/scan': {
    ...{
      threats_detected: 2,
      threats_blocked: 1,
      status: 'completed',
      vulnerabilities_found: ['Old password'],
      recommendations: ['Change it'],
    },
  },
};
