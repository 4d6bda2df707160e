#!/bin/sh
# Turns a fresh Debian tree ($1) into the guest `debian`. Runs inside mmdebstrap.
set -eu
tree=$1

# First boot makes the machine's identity: its id here, its host key below, of one kind only: RSA takes seconds without KVM.
: >"$tree/etc/machine-id"
rm -f "$tree"/etc/ssh/ssh_host_*
mkdir -p "$tree/etc/systemd/system/ssh.service.d"
cat >"$tree/etc/systemd/system/ssh.service.d/host-keys.conf" <<'END'
[Service]
ExecStartPre=
ExecStartPre=/bin/sh -c '[ -e "$0" ] || ssh-keygen -q -t ed25519 -N "" -f "$0"' /etc/ssh/ssh_host_ed25519_key
ExecStartPre=/usr/sbin/sshd -t
END

echo debian >"$tree/etc/hostname"
printf '127.0.0.1 localhost\n127.0.1.1 debian\n' >"$tree/etc/hosts"
echo 'LABEL=hvroot / ext4 noatime 0 1' >"$tree/etc/fstab"

# By key only: nobody has a password.
mkdir -p "$tree/etc/ssh/sshd_config.d"
cat >"$tree/etc/ssh/sshd_config.d/lab.conf" <<'END'
PermitRootLogin prohibit-password
UseDNS no
HostKey /etc/ssh/ssh_host_ed25519_key
END

# What netplan writes for cloud-init comes first by its name.
mkdir -p "$tree/etc/systemd/network"
printf '[Match]\nName=en* eth*\n[Network]\nDHCP=yes\n' >"$tree/etc/systemd/network/80-dhcp.network"

# cloud-init runs where a seed is found and stays out of the way elsewhere: it takes 20 s of a boot without KVM. A list of two,
# or of one, would be taken without a search. Without the package locales its locale module fails.
printf 'datasource_list: [ NoCloud, ConfigDrive, None ]\n' >"$tree/etc/cloud/cloud.cfg.d/90_dpkg.cfg"
printf 'policy: search,found=all,maybe=none,notfound=disabled\n' >"$tree/etc/cloud/ds-identify.cfg"
printf 'locale: false\nssh_genkeytypes: [ ed25519 ]\n' >"$tree/etc/cloud/cloud.cfg.d/91_lab.cfg"

# A crash is told at once, and an NMI asks for one.
echo pvpanic_pci >"$tree/etc/modules-load.d/pvpanic.conf"
echo 'kernel.unknown_nmi_panic = 1' >"$tree/etc/sysctl.d/90-crash.conf"

chroot "$tree" systemctl --quiet enable systemd-networkd ssh qemu-guest-agent serial-getty@ttyS0
chroot "$tree" systemctl --quiet mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
    e2scrub_all.timer e2scrub_reap.service fstrim.timer

sed -i 's/^MODULES=.*/MODULES=list/; s/^COMPRESS=.*/COMPRESS=zstd/' "$tree/etc/initramfs-tools/initramfs.conf"
printf 'virtio_pci\nvirtio_blk\nvirtio_scsi\nvirtio_net\next4\n' >>"$tree/etc/initramfs-tools/modules"
chroot "$tree" update-initramfs -u >/dev/null
rm -rf "$tree"/usr/share/doc/* "$tree"/usr/share/man/* "$tree"/usr/share/locale/* "$tree"/var/lib/apt/lists/*
