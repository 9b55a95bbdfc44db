import { expect, test } from 'vitest';
import { homesOf, readPeople } from './people.ts';

test('people are read from passwd, and lines that are none are left out', () => {
  const people = readPeople(
    'root:x:0:0:root:/root:/bin/sh\n\n:x:1:1::/home/x:\nanna:x:1000:1001:Anna:/home/anna:/bin/sh\nb:x:-1:1::/home/b:\n',
  );
  expect(people).toEqual([
    { name: 'root', uid: 0, gid: 0, home: '/root' },
    { name: 'anna', uid: 1000, gid: 1001, home: '/home/anna' },
  ]);
  expect(homesOf([...people, { name: 'daemon', uid: 1, gid: 1, home: '/usr/sbin' }])).toEqual(['/root', '/home/anna']);
});
