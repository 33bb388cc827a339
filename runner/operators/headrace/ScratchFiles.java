package headrace;

import java.net.URI;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Local files in a folder that is its owner's alone and soon gone, as <code>scratch:/folder</code>.
 *
 * <p>Hadoop sets permissions by a process of its own, <code>chmod</code>, for each file and folder.
 * Of a rehearsal's checkpoints these are a hundred, most of their cost; within such a folder
 * permissions mean nothing.
 */
public final class ScratchFiles extends RawLocalFileSystem {
  @Override
  public URI getUri() {
    return URI.create(getScheme() + ":///");
  }

  @Override
  public String getScheme() {
    return "scratch";
  }

  @Override
  public void setPermission(Path path, FsPermission permission) {}
}
