import { describe, expect, test } from 'vitest';
import { ALERTS_RELOAD_MS, LIVE_FEED } from './anti-hacking.ts';
import { AUTOMATIC_REPLY_DELAY } from './chat.ts';
import { HASH_PREFIX_LENGTH, VERSION } from './constants.ts';
import { CLOCK_TICK_MS, NEVER, PLAN_FEATURES_SHOWN, SECURITY_SCORE_MAXIMUM, SIMULATED_COUNTERS } from './dashboard.ts';
import { RULE_DEFAULTS, SAMPLE_FIGURES } from './firewall.ts';
import {
  ASSIGN_DURATIONS,
  DURATION_DEFAULT,
  MAX_DEVICES_DEFAULT,
  MAX_DEVICES_OPTIONS,
  TEMPLATE_DURATIONS,
  UNLIMITED_DEVICES,
} from './subscription.ts';

describe('the constants of the business', () => {
  test.each([
    ['the version label (section 2)', VERSION, '3.7.9'],
    ['the dashboard clock ticks every second', CLOCK_TICK_MS, 1_000],
    ['the simulated threats start at 67', SIMULATED_COUNTERS.threats_start, 67],
    ['the simulated rules start at 8', SIMULATED_COUNTERS.rules_start, 8],
    ['the counters rise every 120000 ms', SIMULATED_COUNTERS.interval_ms, 120_000],
    ['threats rise by 1 to 5', SIMULATED_COUNTERS.threats_step, { least: 1, most: 5 }],
    ['rules rise by 0 to 2', SIMULATED_COUNTERS.rules_step, { least: 0, most: 2 }],
    ['a one-time bump happens after 10 s', SIMULATED_COUNTERS.bump_after_ms, 10_000],
    ['the security score is 100 by default', SECURITY_SCORE_MAXIMUM, 100],
    ['the last scan is Never before the first (section 3)', NEVER, 'Never'],
    ['the dashboard shows 4 features', PLAN_FEATURES_SHOWN, 4],
    ['the canned reply comes after 1500 ms', AUTOMATIC_REPLY_DELAY, 1_500],
    [
      'firewall defaults',
      RULE_DEFAULTS,
      { direction: 'inbound', action: 'allow', protocol: 'tcp', source_ip: '*', destination_ip: '*', port: '*' },
    ],
    ['assign durations', ASSIGN_DURATIONS, [1, 3, 6, 12, 24, 36]],
    ['template durations', TEMPLATE_DURATIONS, [1, 12, 24]],
    ['max devices', MAX_DEVICES_OPTIONS, [1, 3, 5, 10, 999]],
    ['unlimited devices', UNLIMITED_DEVICES, 999],
    ['12 months by default', DURATION_DEFAULT, 12],
    ['1 device by default', MAX_DEVICES_DEFAULT, 1],
    ['8 characters of the hash', HASH_PREFIX_LENGTH, 8],
    ['the static figures', SAMPLE_FIGURES, { blocked_attempts: '247', data_protected: '2.4GB' }],
    ['live polling every 5 seconds', LIVE_FEED.interval_ms, 5_000],
    ['simulate chance 15 %', LIVE_FEED.simulate_chance, 0.15],
    ['stats refresh chance 30 %', LIVE_FEED.stats_chance, 0.3],
    ['the live list holds 20', LIVE_FEED.held, 20],
    ['the panel shows 5', LIVE_FEED.shown, 5],
    ['a live description is cut to 50 characters', LIVE_FEED.description_length, 50],
    ['alerts are read again 1 second after a scan', ALERTS_RELOAD_MS, 1_000],
  ])('%s', (_, constant, specified) => {
    expect(constant).toEqual(specified);
  });
});
