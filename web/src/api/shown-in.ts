import type { InstallationTopic, Topic } from '@palisade/contract/endpoint';
import type { QueryKey } from '@tanstack/react-query';

/** Prefixes of the query keys that show each part of an account. */
const SHOWN_IN: Record<Topic, readonly QueryKey[]> = {
  rules: [['firewall']],
  // The messages themselves arrive in events.
  messages: [['chat', 'state']],
  remote: [['remote']],
  subscription: [['subscription'], ['anti-hacking']],
  account: [['account'], ['sessions'], ['two-factor'], ['activity'], ['overview']],
  files: [['scan'], ['scans'], ['false-alarms']],
  alerts: [['anti-hacking']],
  devices: [['devices']],
};

/** Prefixes of the query keys that show each part of the installation. The provider's name and contact are not a query. */
const INSTALLATION_SHOWN_IN: Record<InstallationTopic, readonly QueryKey[]> = {
  provider: [],
  plans: [
    ['subscription', 'plans'],
    ['subscription', 'templates'],
  ],
  waiting: [['overview'], ['home'], ['subscription'], ['false-alarms'], ['outbox']],
  people: [['overview'], ['home'], ['users'], ['user-sessions'], ['subscription']],
  desk: [['desk']],
  help: [['help']],
};

function isOfInstallation(topic: Topic | InstallationTopic): topic is InstallationTopic {
  return Object.hasOwn(INSTALLATION_SHOWN_IN, topic);
}

/** Prefixes of the query keys to refetch after a change of this part. Every change of an account may change the dashboard. */
export function shownIn(topic: Topic | InstallationTopic): readonly QueryKey[] {
  return isOfInstallation(topic) ? INSTALLATION_SHOWN_IN[topic] : [...SHOWN_IN[topic], ['dashboard']];
}
