import fc from 'fast-check';

// Set-up of the test files of several workspaces: property tests have the same cases in each run, so that no run fails by chance. A failure names the seed and
// the case. Other cases are tried by changing the number here, for a while.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 32 });
